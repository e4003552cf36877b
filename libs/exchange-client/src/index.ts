export type { ClientProof } from './access-token.ts';
export type {
  CheckpointProof,
  ComparedEvidence,
  MessageResult,
  Receipt,
  Resolution,
  ServingIntent,
  SnapshotMapping,
  StoredMessage,
  StreamHead,
} from './answers.ts';
export {
  createExchangeClient,
  type Acknowledgement,
  type ExchangeClient,
  type ExchangeClientOptions,
  type RouteRequest,
} from './create-exchange-client.ts';
export { newMachineKey, proveMachineKey, publicHalf } from './machine-key.ts';
export { InvalidMessage, tryReadSigned, type Draft, type SignedMessage, type SigningKey } from './message.ts';
export { ExchangeRefusal, ExchangeUnreachable } from './problem.ts';
export type { RetryOptions } from './send-request.ts';
export type { ExchangeStream } from './stream-messages.ts';
export { MessageRefusal } from './stream.ts';
export { verifyStream, type ExportedStream, type StreamVerification } from './verify-stream.ts';
