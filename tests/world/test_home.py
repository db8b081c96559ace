"""The folder of a persistent local world: only one process uses it at a time, and the state is never half-written."""

import json
import re
import subprocess
import sys

import pytest

from holdfast.world.errors import WorldError
from holdfast.world.home import chain_state, home


def test_a_folder_has_one_world_at_a_time_also_while_one_of_its_programs_lives(tmp_path):
    """For example, the chain may still be writing its state after `holdfast dev` has been killed with `kill -9`."""
    state, taken = tmp_path / "world", f"^another holdfast dev runs on {re.escape(str(tmp_path / 'world'))}: stop it,"
    with home(state) as (folder, locks):
        assert folder == state
        with pytest.raises(WorldError, match=taken), home(state):
            pass
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=locks)
    with pytest.raises(WorldError, match=taken), home(state):
        pass
    child.communicate(b"\n")
    with home(state):
        pass


def test_a_folder_that_is_a_file_is_named_and_without_a_folder_there_is_no_state(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WorldError, match=r"^cannot use .*/file: File exists$"), home(tmp_path / "file"):
        pass
    assert chain_state(None) is None
    with home(None) as (folder, locks):
        assert folder.is_dir() and locks == ()
    assert not folder.exists()


def test_a_torn_state_is_named_with_the_way_out_which_is_the_last_starts_if_there_was_one(tmp_path):
    path, last = tmp_path / "chain.json", tmp_path / "chain.json.last"
    assert chain_state(tmp_path) == path
    path.write_text('{"block": {"numb')
    with pytest.raises(WorldError, match=r"^/.*/chain\.json is damaged: remove it, or begin anew with another --state"):
        chain_state(tmp_path)
    path.write_text(json.dumps({"block": 7}))
    chain_state(tmp_path)
    path.write_text('{"block": {"numb')
    with pytest.raises(WorldError, match=r"put back chain\.json\.last, its state at the last start"):
        chain_state(tmp_path)
    last.replace(path)
    assert chain_state(tmp_path) == path
