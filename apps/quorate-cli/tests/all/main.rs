//! The command line, as one program: linking takes longer than most of these tests.

mod checkpoint;
mod command_line;
mod dkg;
mod doors;
mod era;
mod every_signature;
mod evm;
mod evm_answers;
mod evm_hub;
mod evm_network;
mod evm_operators;
mod evm_transactions;
mod history;
mod keys;
mod keystores;
mod operations;
mod readme;
mod shards;
mod threshold;
mod verify;
