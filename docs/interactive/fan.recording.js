window.RECORDINGS = window.RECORDINGS || {};
window.RECORDINGS.fan = {"guards": ["left", "right"], "times": [[-1.0, 0.0], [0.0, -1.0]], "pieces": [{"order": [0, 1], "matrix": [[0.5, 0.5], [0.0, 0.5]]}, {"order": [1, 0], "matrix": [[1.0, 0.0], [-0.25, 0.75]]}]};
