export { createS3Server } from './server.ts';
export { startS3ServerProcess, type S3ServerProcess } from './s3-server-process.ts';
export { type S3Key } from './permissions.ts';
