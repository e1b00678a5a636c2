"""Who may write the scalars of an integration (`core.state.integration.SCALARS`), beside `core/restart.py`.

``RECORDS``: record -> files, or folders, of the package that write its fields. ``FIELDS``: a field that one other file writes,
and nobody else. ``STRANGERS``: fields that somebody else writes too. That list is to become shorter, never longer: a field that
is written in many places is one whose meaning nobody knows.
"""

RECORDS = {
    "options": ("integration/options.py", "integration/stepper.py", "paper.py"),
    "counts": ("core/evaluate.py", "core/steps/accept.py", "core/spans/accept_span.py"),
    "rows": ("core/recorded.py", "core/steps/crossing.py", "core/steps/loop.py", "core/steps/dense.py"),
    "run": ("core/steps/loop.py", "integration/stepper.py", "integration/options.py"),
    "clock": ("core/clock.py", "integration/pickling.py"),
    "ask": ("core/steps/judge.py",),
    "verdict": ("core/steps/verdict.py", "core/steps/judge.py"),
    "here": (),
    "step": ("core/steps/landing.py", "core/steps/loop.py", "core/steps/leg.py"),
    "landing": ("core/steps/loop.py", "core/steps/correction.py", "core/steps/accept.py"),
    "next": ("core/steps/smooth.py", "core/steps/loop.py", "core/steps/landing.py"),
    "hop": ("core/steps/hop.py",),
    "stiff": ("core/stiff/", "integration/stiff.py", "integration/options.py"),
    "span": ("core/spans/",),
    "jump": ("core/jumps/", "core/steps/crossing.py"),
    "now": ("core/steps/accept.py", "core/spans/accept_span.py", "core/recorded.py", "integration/stepper.py"),
}
FIELDS = {
    "ask.since": "core/steps/crossing.py",
    "ask.soon": "core/steps/loop.py",
    "ask.speed": "core/steps/crossing.py",
    "ask.t": "core/steps/search.py",
    "here.held": "core/guards.py",
    "run.culprit": "core/evaluate.py",
    "run.ended_by": "core/steps/crossing.py",
    "run.other": "core/jumps/instant.py",
    "run.started": "core/steps/start.py",
    "run.t_failed": "core/evaluate.py",
    "step.middle_known": "core/steps/missed.py",
    "step.winding": "core/steps/missed.py",
}
STRANGERS = {
    "ask.question": ("integration/running.py",),
    "here.kept": ("core/jumps/instant.py", "core/sliding/modes.py"),
    "hop.measured_over": ("core/evaluate.py", "core/steps/accept.py", "core/steps/start.py"),
    "next.dt": ("core/sliding/modes.py", "core/steps/retake.py", "core/steps/start.py"),
    "next.reach": ("core/stiff/choice.py",),
    "next.scheme": ("core/steps/retake.py", "core/stiff/choice.py", "integration/options.py", "integration/stiff.py"),
    "now.stop": ("core/steps/loop.py", "integration/options.py", "integration/running.py"),
    "options.rtol": ("core/tangents/prepare.py", "memory/extras.py", "solution/dense.py"),
    "options.word_given": ("core/steps/start_word.py",),
    "rows.breaks": ("integration/running.py",),
    "rows.requested": ("core/spans/accept_span.py", "core/tangents/along.py", "memory/extras.py"),
    "run.budget": ("ensembles/worker.py",),
    "run.cap": ("core/recorded.py", "derivative/compiled_corner.py", "solution/dense.py"),
    "run.ended_by": ("integration/options.py",),
    "run.status": ("core/evaluate.py", "solution/dense.py"),
    "span.dt": ("core/steps/loop.py",),
    "span.on": ("core/steps/loop.py",),
    "step.kind": ("core/steps/retake.py", "core/steps/smooth.py"),
    "stiff.weigh_at": ("core/steps/retake.py",),
}
