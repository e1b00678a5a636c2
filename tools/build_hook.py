"""Hatch's hook while a wheel is built: with BOULIGAND_MACHINE_CODE, a folder, its files go into the package (see wheel.py)."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCode(BuildHookInterface):
    def initialize(self, version, build_data):
        folder = os.environ.get("BOULIGAND_MACHINE_CODE")
        if folder and version != "editable":
            build_data["force_include"][folder] = "bouligand/machine_code"
            build_data["pure_python"] = False
            build_data["tag"] = os.environ["BOULIGAND_WHEEL_TAG"]
