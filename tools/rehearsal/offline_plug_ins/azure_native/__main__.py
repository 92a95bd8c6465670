"""The plug-in as the engine starts it, with the engine's address as its argument."""

from pathlib import Path

from rehearsal.offline_plug_ins.launch import launch

if __name__ == "__main__":
    launch(Path(__file__).parent.name)
