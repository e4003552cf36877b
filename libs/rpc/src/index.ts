export { callerOf, readTls, tlsFromConfig, type Tls } from './tls.ts';
export { rpcService, serveRpc, type RpcContext, type RpcHandlers, type RpcServer, type RpcService } from './serve.ts';
export { openChannel, type CallOptions, type RpcChannel, type RpcClient } from './client.ts';
export { fromServiceError, toServiceError } from './problem-status.ts';
