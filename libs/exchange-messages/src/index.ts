export { authorityRotationBody, type AuthorityRotation } from './bodies/authority-rotation.ts';
export { contentRevocationBody, type ContentRevocation } from './bodies/content-revocation.ts';
export { contentSnapshotBody, type ContentSnapshot } from './bodies/content-snapshot.ts';
export { routes, deliveryAliasBody, type DeliveryAlias } from './bodies/delivery-alias.ts';
export { platformEvidenceBody, type EvidenceRow, type PlatformEvidence } from './bodies/platform-evidence.ts';
export { surfaceCapabilityBody, type SurfaceCapability } from './bodies/surface-capability.ts';
export { classifyMessage, type ChainHead, type ChainVerdict, type IncomingMessage, type StreamState } from './chain.ts';
export { messageDigestOf, rowsDigestOf, sha256Digest } from './digest.ts';
export { tryParsePublicKey, type PublicKey } from './ed25519.ts';
export {
  isMessageSignedBy,
  parseEnvelope,
  parseProtectedHeader,
  signMessage,
  type Envelope,
  type EnvelopeResult,
  type HeaderResult,
  type ProtectedHeader,
} from './envelope.ts';
export {
  claimedKeyId,
  isRequestSigned,
  signRequest,
  verifyRequest,
  type SignatureFault,
  type SignatureParameters,
  type VerifiedRequest,
} from './http-signature.ts';
export {
  maxBatchMessages,
  maxClockSkewSeconds,
  maxEvidenceRows,
  maxFieldErrors,
  maxPayloadBytes,
  maxPayloadDepth,
  maxSignatureSeconds,
} from './limits.ts';
export {
  isSchemaName,
  purposeOf,
  schemas,
  subjectTypeOf,
  type KeyPurpose,
  type SchemaName,
  type SubjectType,
  type SubjectTypeOf,
} from './message-kinds.ts';
export {
  claimedOrigin,
  openPayload,
  parsePayload,
  payloadSchemas,
  streamId,
  type ClaimedOrigin,
  type Message,
  type MessageOf,
  type PayloadRefusal,
  type PayloadResult,
} from './payload.ts';
export { isIssuedAhead } from './issued-at.ts';
export { pointer, type FieldError, type Refusal } from './refusal.ts';
export { parseEvidenceFile, semanticErrors, type EvidenceFileResult, type SemanticContext } from './semantics.ts';
export type { HttpRequest } from './signature-base.ts';
export { parseStrictJson, type JsonFault, type JsonFaultCode, type JsonResult } from './strict-json.ts';
