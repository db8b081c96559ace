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
    /// @dev No setting, but what `Keys` must know with every signature, so it is in the same word.
    uint256 private constant STORED_KEY = 1 << 255;

    /// @notice Reads all settings.
    /// @param word The stored word.
    /// @return settings The settings.
    function unpack(uint256 word) internal pure returns (Settings memory settings) {
        settings.sequence = uint64(word);
        settings.generation = generation(word);
        settings.owners = uint16(word >> 96) + 1;
        settings.threshold = needsTwo(word) ? 2 : 1;
        settings.guardians = uint8(word >> 120);
        settings.quorum = uint8(word >> 128);
        settings.delay = uint32(word >> 136);
        if (settings.delay == 0) settings.delay = DEFAULT_DELAY;
        settings.recoveryNonce = recoveryNonce(word);
    }

    /// @notice The word to store.
    /// @param settings Settings with at least one owner.
    /// @param before The word that is stored, which says where the primary key is.
    /// @return word The word.
    function pack(Settings memory settings, uint256 before) internal pure returns (uint256 word) {
        uint32 delay = settings.delay == DEFAULT_DELAY ? 0 : settings.delay;
        word = uint256(settings.sequence) | uint256(settings.generation) << 64 | uint256(settings.owners - 1) << 96;
        word |= uint256(settings.threshold - 1) << 112 | uint256(settings.guardians) << 120;
        word |= uint256(settings.quorum) << 128 | uint256(delay) << 136 | uint256(settings.recoveryNonce) << 168;
        word |= before & STORED_KEY;
    }

    /// @notice The generation alone.
    /// @param word The stored word.
    /// @return number The generation.
    function generation(uint256 word) internal pure returns (uint32 number) {
        return uint32(word >> 64);
    }

    /// @notice The number of the next recovery alone.
    /// @param word The stored word.
    /// @return number The number.
    function recoveryNonce(uint256 word) internal pure returns (uint32 number) {
        return uint32(word >> 168);
    }

    /// @notice Whether the primary key is in storage; else it is the account's first, in its code.
    /// @param word The stored word.
    /// @return stored Whether it is.
    function hasStoredKey(uint256 word) internal pure returns (bool stored) {
        return word & STORED_KEY != 0;
    }

    /// @notice The word of an account whose primary key is in storage.
    /// @param word The stored word.
    /// @return marked The word to store.
    function withStoredKey(uint256 word) internal pure returns (uint256 marked) {
        return word | STORED_KEY;
    }

    /// @notice Whether two owners must sign.
    /// @param word The stored word.
    /// @return two Whether the threshold is 2.
    function needsTwo(uint256 word) internal pure returns (bool two) {
        return uint8(word >> 112) != 0;
    }
}
