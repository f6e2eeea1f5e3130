"""Class moments: power sums and joint sums, one pass, mergeable."""

from memdlib.moments.collect import class_moments
from memdlib.moments.joint import JointMoments, joint_moments
from memdlib.moments.sums import (
    ClassMoments,
    leave_one_out,
    translate,
    translate_natural,
)

__all__ = [
    "ClassMoments",
    "JointMoments",
    "class_moments",
    "joint_moments",
    "leave_one_out",
    "translate",
    "translate_natural",
]
