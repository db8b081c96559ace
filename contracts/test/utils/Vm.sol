// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The cheat codes that our tests use.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    /// @notice One executed instruction.
    struct DebugStep {
        uint256[] stack;
        bytes memoryInput;
        uint8 opcode;
        uint64 depth;
        bool isOutOfGas;
        address contractAddr;
    }

    struct ChainInfo {
        uint256 forkId;
        uint256 chainId;
    }

    struct StorageAccess {
        address account;
        bytes32 slot;
        bool isWrite;
        bytes32 previousValue;
        bytes32 newValue;
        bool reverted;
    }

    /// @notice An account that was called, read or created, and the storage that this used. `kind` 0 to 3 are calls.
    struct AccountAccess {
        ChainInfo chainInfo;
        uint8 kind;
        address account;
        address accessor;
        bool initialized;
        uint256 oldBalance;
        uint256 newBalance;
        bytes deployedCode;
        uint256 value;
        bytes data;
        bool reverted;
        StorageAccess[] storageAccesses;
        uint64 depth;
        uint64 oldNonce;
        uint64 newNonce;
    }

    function startDebugTraceRecording() external;
    function stopAndReturnDebugTraceRecording() external returns (DebugStep[] memory);
    function startStateDiffRecording() external;
    function stopAndReturnStateDiff() external returns (AccountAccess[] memory);
    function prank(address sender) external;
    function prank(address sender, address origin) external;
    function startPrank(address sender) external;
    function stopPrank() external;
    function snapshotState() external returns (uint256 id);
    function revertToState(uint256 id) external returns (bool success);
    function roll(uint256 blockNumber) external;
    function getBlockNumber() external view returns (uint256);
    function getBlockTimestamp() external view returns (uint256);
    function warp(uint256 timestamp) external;
    function deal(address account, uint256 wei_) external;
    function etch(address account, bytes calldata code) external;
    function load(address account, bytes32 slot) external view returns (bytes32);
    function store(address account, bytes32 slot, bytes32 value) external;
    function assume(bool condition) external pure;
    function expectRevert(bytes calldata reason) external;
    function expectRevert() external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data, address emitter) external;
    function snapshotGasLastCall(string calldata group, string calldata name) external returns (uint256);
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function envOr(string calldata name, string calldata otherwise) external view returns (string memory);
    function chainId(uint256 id) external;
    function readFile(string calldata path) external view returns (string memory);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
    function parseJsonUint(string calldata json, string calldata key) external pure returns (uint256);
    function parseJsonBytes32(string calldata json, string calldata key) external pure returns (bytes32);
    function parseJsonAddress(string calldata json, string calldata key) external pure returns (address);
    function parseJsonBytesArray(string calldata json, string calldata key) external pure returns (bytes[] memory);
    function keyExistsJson(string calldata json, string calldata key) external view returns (bool);
    function signP256(uint256 privateKey, bytes32 digest) external pure returns (bytes32 r, bytes32 s);
    function publicKeyP256(uint256 privateKey) external view returns (uint256 x, uint256 y);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function addr(uint256 privateKey) external pure returns (address);
    function toBase64URL(bytes calldata data) external pure returns (string memory);
    function assertEq(uint256 a, uint256 b) external pure;
    function assertEq(bytes32 a, bytes32 b) external pure;
    function assertEq(address a, address b) external pure;
    function assertEq(bool a, bool b) external pure;
    function assertEq(string calldata a, string calldata b) external pure;
    function assertEq(bytes calldata a, bytes calldata b) external pure;
    function assertTrue(bool condition) external pure;
    function assertFalse(bool condition) external pure;
}
