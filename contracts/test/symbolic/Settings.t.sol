// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Settings, SettingsWord} from "../../src/account/Settings.sol";

/// @notice Packing and reading are inverse, for all values that an account can have.
contract SettingsSymbolicTest {
    using SettingsWord for uint256;
    using SettingsWord for Settings;

    function check_unpackReadsWhatPackWrote(Settings memory settings, uint256 before) public pure {
        bool possible = settings.owners != 0 && settings.delay != 0;
        if (!possible || (settings.threshold != 1 && settings.threshold != 2)) return;
        uint256 word = settings.pack(before);
        assert(keccak256(abi.encode(word.unpack())) == keccak256(abi.encode(settings)));
        assert(word.generation() == settings.generation && word.recoveryNonce() == settings.recoveryNonce);
        assert(word.needsTwo() == (settings.threshold == 2) && word.hasStoredKey() == before.hasStoredKey());
    }

    function check_packWritesWhatUnpackRead(uint256 word) public pure {
        bool written =
            uint256(word << 1) >> 201 == 0 && uint8(word >> 112) < 2 && uint16(word >> 96) != type(uint16).max;
        if (!written || uint32(word >> 136) == 3 days) return;
        assert(word.unpack().pack(word) == word);
    }
}
