/** BLS signatures verified in bulk: one verdict for each claim, which says what is false. */
module io.quorate {
    exports io.quorate;
    exports io.quorate.bls;
}
