//! A transaction of EIP-1559: what it calls, and its signature.

use alloy::{
    eips::eip2718::Encodable2718 as _,
    network::{EthereumWallet, NetworkTransactionBuilder as _, TransactionBuilder as _},
    primitives::{Address, B256, Bytes},
    rpc::types::{AccessList, AccessListItem, TransactionRequest},
};

use crate::fees::Fees;

/// The call of a contract, with an access list of whole accounts.
pub(crate) fn call(to: Address, calldata: Bytes, access_list: &[Address]) -> TransactionRequest {
    let item = |address: &Address| AccessListItem { address: *address, storage_keys: Vec::new() };
    TransactionRequest::default()
        .with_to(to)
        .with_input(calldata)
        .with_access_list(AccessList(access_list.iter().map(item).collect()))
}

/// Signs a transaction. Returns its hash, and its bytes as a node takes them.
///
/// # Errors
/// Why it cannot be signed: a field is missing, or the wallet does not have the key of its sender.
pub(crate) async fn sign(
    request: TransactionRequest,
    wallet: &EthereumWallet,
    chain_id: u64,
    nonce: u64,
    gas_limit: u64,
    fees: Fees,
) -> Result<(B256, Bytes), String> {
    let request = request
        .with_chain_id(chain_id)
        .with_nonce(nonce)
        .with_gas_limit(gas_limit)
        .with_max_fee_per_gas(fees.max_fee)
        .with_max_priority_fee_per_gas(fees.tip);
    let signed = request.build(wallet).await.map_err(|error| error.to_string())?;
    Ok((*signed.tx_hash(), signed.encoded_2718().into()))
}
