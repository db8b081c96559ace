// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice What an account counts and requires, stored in one word.
/// @param sequence Signed changes applied so far: the number that the next one must have.
/// @param generation Recoveries finished so far. Owners and permissions of an earlier generation are gone.
/// @param owners Owners without an expiry. Those with one do not count, so no passing of time can lock the account.
/// @param threshold Owners who must sign: 1 or 2.
/// @param guardians Guardians.
/// @param quorum Guardians who must sign to start a recovery; zero: none can be started.
/// @param delay Seconds from the start of a recovery until it can be finished.
/// @param recoveryNonce The number that the next recovery, or its cancellation, must have.
struct Settings {
    uint64 sequence;
    uint32 generation;
    uint16 owners;
    uint8 threshold;
    uint8 guardians;
    uint8 quorum;
    uint32 delay;
    uint32 recoveryNonce;
}

/// @title Settings in one word
/// @notice A word of zero, as in a new account, means one owner, threshold 1, and the delay of three days.
library SettingsWord {
    uint32 private constant DEFAULT_DELAY = 3 days;
    uint256 private constant GENERATION = 64;
    uint256 private constant OWNERS = 96;
    uint256 private constant THRESHOLD = 112;
    uint256 private constant GUARDIANS = 120;
    uint256 private constant QUORUM = 128;
    uint256 private constant DELAY = 136;
    uint256 private constant RECOVERY_NONCE = 168;
    /// @dev No setting, but what `Keys` must know with every signature, so it is in the same word.
    uint256 private constant STORED_KEY = 1 << 255;

    /// @notice Reads all settings.
    /// @param word The word.
    /// @return settings The settings.
    function unpack(uint256 word) internal pure returns (Settings memory settings) {
        settings.sequence = sequence(word);
        settings.generation = generation(word);
        settings.owners = owners(word);
        settings.threshold = threshold(word);
        settings.guardians = guardians(word);
        settings.quorum = quorum(word);
        settings.delay = delay(word);
        settings.recoveryNonce = recoveryNonce(word);
    }

    /// @notice Signed changes applied so far.
    /// @param word The word.
    /// @return number The sequence of the next ones.
    function sequence(uint256 word) internal pure returns (uint64 number) {
        return uint64(word);
    }

    /// @notice Recoveries finished so far.
    /// @param word The word.
    /// @return number The generation.
    function generation(uint256 word) internal pure returns (uint32 number) {
        return uint32(word >> GENERATION);
    }

    /// @notice Owners without an expiry.
    /// @param word The word.
    /// @return number Their number.
    function owners(uint256 word) internal pure returns (uint16 number) {
        return uint16(word >> OWNERS) ^ 1;
    }

    /// @notice Owners who must sign.
    /// @param word The word.
    /// @return number Their number.
    function threshold(uint256 word) internal pure returns (uint8 number) {
        return needsTwo(word) ? 2 : 1;
    }

    /// @notice Whether two owners must sign.
    /// @param word The word.
    /// @return two Whether the threshold is 2.
    function needsTwo(uint256 word) internal pure returns (bool two) {
        return uint8(word >> THRESHOLD) != 0;
    }

    /// @notice Guardians.
    /// @param word The word.
    /// @return number Their number.
    function guardians(uint256 word) internal pure returns (uint8 number) {
        return uint8(word >> GUARDIANS);
    }

    /// @notice Guardians who must sign.
    /// @param word The word.
    /// @return number Their number.
    function quorum(uint256 word) internal pure returns (uint8 number) {
        return uint8(word >> QUORUM);
    }

    /// @notice Time from the start of a recovery until it can be finished.
    /// @param word The word.
    /// @return time In seconds.
    function delay(uint256 word) internal pure returns (uint32 time) {
        time = uint32(word >> DELAY);
        if (time == 0) time = DEFAULT_DELAY;
    }

    /// @notice The number of the next recovery.
    /// @param word The word.
    /// @return number The number.
    function recoveryNonce(uint256 word) internal pure returns (uint32 number) {
        return uint32(word >> RECOVERY_NONCE);
    }

    /// @notice Whether the primary key is in storage; else it is the account's first, in its code.
    /// @param word The word.
    /// @return stored Whether it is.
    function hasStoredKey(uint256 word) internal pure returns (bool stored) {
        return word & STORED_KEY != 0;
    }

    /// @notice The word after one more signed change.
    /// @param word The word.
    /// @return changed The word to store.
    function withNextSequence(uint256 word) internal pure returns (uint256 changed) {
        return _with(word, 0, type(uint64).max, sequence(word) + 1);
    }

    /// @notice The word after one more recovery.
    /// @param word The word.
    /// @return changed The word to store.
    function withNextGeneration(uint256 word) internal pure returns (uint256 changed) {
        return _with(word, GENERATION, type(uint32).max, generation(word) + 1);
    }

    /// @notice The word with a number of owners.
    /// @param word The word.
    /// @param number Owners without an expiry.
    /// @return changed The word to store.
    function withOwners(uint256 word, uint16 number) internal pure returns (uint256 changed) {
        return _with(word, OWNERS, type(uint16).max, number ^ 1);
    }

    /// @notice The word with a threshold.
    /// @param word The word.
    /// @param number 1 or 2.
    /// @return changed The word to store.
    function withThreshold(uint256 word, uint8 number) internal pure returns (uint256 changed) {
        return _with(word, THRESHOLD, type(uint8).max, number - 1);
    }

    /// @notice The word with a number of guardians.
    /// @param word The word.
    /// @param number Guardians.
    /// @return changed The word to store.
    function withGuardians(uint256 word, uint8 number) internal pure returns (uint256 changed) {
        return _with(word, GUARDIANS, type(uint8).max, number);
    }

    /// @notice Sets the quorum in the settings' word.
    /// @param word The word.
    /// @param number Guardians who must sign.
    /// @return changed The word to store.
    function withQuorum(uint256 word, uint8 number) internal pure returns (uint256 changed) {
        return _with(word, QUORUM, type(uint8).max, number);
    }

    /// @notice The word with a delay.
    /// @param word The word.
    /// @param time In seconds, not zero.
    /// @return changed The word to store.
    function withDelay(uint256 word, uint32 time) internal pure returns (uint256 changed) {
        return _with(word, DELAY, type(uint32).max, time);
    }

    /// @notice The word after one more recovery was started or cancelled.
    /// @param word The word.
    /// @return changed The word to store.
    function withNextRecoveryNonce(uint256 word) internal pure returns (uint256 changed) {
        return _with(word, RECOVERY_NONCE, type(uint32).max, recoveryNonce(word) + 1);
    }

    /// @notice The word of an account whose primary key is in storage.
    /// @param word The word.
    /// @return changed The word to store.
    function withStoredKey(uint256 word) internal pure returns (uint256 changed) {
        return word | STORED_KEY;
    }

    function _with(uint256 word, uint256 shift, uint256 mask, uint256 value) private pure returns (uint256) {
        return word & ~(mask << shift) | value << shift;
    }
}
