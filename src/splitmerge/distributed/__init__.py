"""Solves on the processes of an MPI program, with PETSc's matrices; imported when such a matrix is given."""
