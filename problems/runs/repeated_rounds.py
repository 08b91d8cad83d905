"""Rounds of one affine map of the server's vectors: all rounds first, then the local steps of many rounds at once."""

from dataclasses import dataclass

from . import local_maps as forward
from .recorder import SCRATCH, Values, lists, note, over_rounds
from .rule_values import Scope, initial
from .setup import ROUNDS, Measured, Place, State


@dataclass(frozen=True, slots=True, eq=False)
class Forwarded:
    """Rounds of one affine map: first the server's vectors in all rounds, then the local steps of many rounds at once.

    Rounds are outcomes here, in blocks, so that memory does not grow with T.
    """

    scope: Scope
    whole: forward.Round

    def measures(self) -> Measured:
        scope, xp, setup, rules = self.scope, self.scope.xp, self.scope.setup, self.scope.rules
        n, d = setup.start.shape
        start = initial(scope)
        z = xp.concat([start[name][0, :, 0, :] for name in rules.kept], axis=-1)
        M, c = forward.server_map(setup.problem, self.whole, rules.kept, scope.number_at(0), n, setup.E)
        inside = any("k" in measure.at for measure in rules.measures.values())
        ahead = max(8, min(forward.AHEAD, SCRATCH // (n * setup.problem.C * d))) if inside else forward.AHEAD
        measured: Values = lists(rules.measures)
        for first, block in forward.states(M, c, z, setup.T, ahead):
            state = {name: block[:, :, None, j * d : (j + 1) * d] for j, name in enumerate(rules.kept)}
            rounds = min(block.shape[0], setup.T - first)  # that have local steps
            local = {name: x[:rounds, ...] for name, x in state.items()} if inside and rounds else None
            steps = None if local is None else self.steps(local)
            note(scope, measured, first, state, steps or [])
        return over_rounds(scope, measured)

    def steps(self, state: State) -> list[State]:
        """Before each local step of some rounds, and after the last one."""
        scope = self.scope
        states = [scope.carried(Place(state, ROUNDS, 0), "begin")]
        for k in range(scope.setup.E):
            states.append(scope.carried(Place(states[-1], ROUNDS, k), "local"))
        return states
