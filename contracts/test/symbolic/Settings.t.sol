// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Settings, SettingsWord} from "../../src/account/Settings.sol";

/// @notice Each setting that is written is read again, and leaves every other bit, for all values that an account can have.
contract SettingsSymbolicTest {
    using SettingsWord for uint256;

    function check_writesOneSetting(uint256 word, uint16 owners, uint8 guardians, uint8 quorum, uint32 delay)
        public
        pure
    {
        _compare(word, word.withOwners(owners), 96, 16);
        _compare(word, word.withGuardians(guardians), 120, 8);
        _compare(word, word.withQuorum(quorum), 128, 8);
        _compare(word, word.withDelay(delay), 136, 32);
        assert(word.withOwners(owners).owners() == owners && word.withGuardians(guardians).guardians() == guardians);
        assert(word.withQuorum(quorum).quorum() == quorum);
        assert(delay == 0 || word.withDelay(delay).delay() == delay);
    }

    function check_writesTheThreshold(uint256 word, bool two) public pure {
        uint256 changed = word.withThreshold(two ? 2 : 1);
        _compare(word, changed, 112, 8);
        assert(changed.needsTwo() == two && changed.threshold() == (two ? 2 : 1));
    }

    function check_counts(uint256 word) public pure {
        if (word.sequence() == type(uint64).max || word.generation() == type(uint32).max) return;
        if (word.recoveryNonce() == type(uint32).max) return;
        _compare(word, word.withNextSequence(), 0, 64);
        _compare(word, word.withNextGeneration(), 64, 32);
        _compare(word, word.withNextRecoveryNonce(), 168, 32);
        assert(word.withNextSequence().sequence() == word.sequence() + 1);
        assert(word.withNextGeneration().generation() == word.generation() + 1);
        assert(word.withNextRecoveryNonce().recoveryNonce() == word.recoveryNonce() + 1);
    }

    function check_marksTheStoredKey(uint256 word) public pure {
        _compare(word, word.withStoredKey(), 255, 1);
        assert(word.withStoredKey().hasStoredKey());
    }

    function check_aNewAccount() public pure {
        Settings memory settings = uint256(0).unpack();
        assert(settings.owners == 1 && settings.threshold == 1 && settings.delay == 3 days);
        assert(settings.sequence == 0 && settings.generation == 0 && settings.recoveryNonce == 0);
        assert(settings.guardians == 0 && settings.quorum == 0 && !uint256(0).hasStoredKey());
    }

    /// @dev The words differ only in the bits of one setting.
    function _compare(uint256 word, uint256 changed, uint256 shift, uint256 bits) private pure {
        assert((word ^ changed) & ~((2 ** bits - 1) << shift) == 0);
    }
}
