"""Set-up: the factorisations and measurements that a plan asks for."""
