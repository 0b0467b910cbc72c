"""No process holds a whole vector, and what each of them needs falls as there are more."""


def test_memory_falls_with_the_number_of_processes(program):
    one, two, three = (program(ranks, "memory", N=26)["peak"] for ranks in (1, 2, 3))
    assert two < 0.62 * one
    assert three < 0.45 * one


def test_no_process_makes_an_array_as_long_as_a_vector(program):
    assert not any(program(3, "arrays", N=30)["found"])
