export { createS3Server, type S3ServerOptions } from './server.ts';
export { startS3ServerProcess, type S3ServerProcess } from './s3-server-process.ts';
export { type S3Credentials } from './sigv4.ts';
export { type Permissions, type S3Key } from './permissions.ts';
