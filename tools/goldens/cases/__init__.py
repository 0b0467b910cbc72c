"""The cases: Python expressions in the names of `looks.namespace`, each identified by its text."""

from __future__ import annotations

from . import corners, methods, options, others, refused

GROUPS = (
    *(methods.sizes, methods.thresholds, methods.methods, methods.options_of_methods, methods.kinds),
    *(options.special, options.scales, options.policies, options.stopping, options.starts, options.going_on),
    *(options.narrow, options.hints),
    *(others.scipys, others.modes, others.inside, others.estimators, others.commands, others.files),
    *(corners.routes, corners.parts, corners.views, corners.classes, corners.formats),
)
REFUSED = dict.fromkeys([*refused.matrices(), *refused.options(), *refused.objects(), *refused.scipys()])
CASES = list(dict.fromkeys([*(expression for group in GROUPS for expression in group()), *REFUSED]))
