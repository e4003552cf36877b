export { checkpointProofSchema, checkpointStatementSchema, exportLine, verifyChain } from './verify-chain.ts';
