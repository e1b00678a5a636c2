"""What PyInstaller packs of this library: all of it, since parts are imported when they are first used, by their names.

As sources, not as byte code: machine code is kept on disk under a hash of the sources.
"""

from PyInstaller.utils.hooks import collect_data_files

from bouligand._pyinstaller import modules

module_collection_mode = "py"
hiddenimports = modules()
datas = collect_data_files("bouligand")
