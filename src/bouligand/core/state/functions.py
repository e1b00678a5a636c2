"""Addresses of the user's functions and Jacobians, and what they are called with besides their arguments."""

from .layout import record

_CALLED = ("f", "h", "fh", "Dh", "g", "g_many", "jump_many", "multipliers", "project", "contact_rates")
# where trajectories may stay on guards, f and h are one of these: the user's own, or those that know sliding modes and rest
_CHOICE = ("f_moving", "h_moving", "f_staying", "h_staying")
# entries of the core that the loop calls; 0: not compiled yet
_ENTERED = ("enter_jump", "enter_slide", "enter_stiff", "enter_judge")
FUNCTIONS = record(*(f"{name}: int" for name in (*_CALLED, *_CHOICE, "context", *_ENTERED)))
# addresses; f_dual and h_dual are f and h of dual numbers, for the Jacobians that were not given (0: differenced), f_few, f_one
# and h_few of those with fewer tangents. A, of a bridge, is a matrix near Df for stiff steps; along is Df times a few tangents,
# in less time than Df takes. Both are called directly after f with the same arguments, and may use what f has left
JACOBIANS = record(
    *(
        f"{name}: int"
        for name in (
            *("Df", "Dp_f", "Dh", "Dh_row", "Dt_h", "Dp_h"),
            *("f_dual", "f_few", "f_one", "h_dual", "h_few", "A", "along"),
        )
    )
)
TIMELESS = -1  # in place of the address of Dt_h: h does not depend on t
# the words of a function's context; "ks" for g_many only, what follows it where sliding modes are computed: addresses of the
# user's f and h, of h of dual numbers, of the word, of the guards on which the trajectory may come to rest (0: none), of the
# addresses of their jumps, of jump_many, of the numbers of the parameters in which f finds the forces of contacts at rest (-1:
# none; address 0: of no contact), and of working memory
CONTEXT = ("n", "m", "p", "user data", "ks", "f", "h", "h_dual", "b", "rests", "jumps", "jump_many", "forces", "space")
USER_DATA, LISTED, USERS_F, USERS_H, USERS_H_DUAL, WORD, RESTS, JUMPS, JUMP_MANY, FORCES, SPACE = range(3, 14)
