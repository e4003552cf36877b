export { readTls, tlsFromConfig, type Tls } from './tls.ts';
export type { RpcContext } from './running-call.ts';
export { rpcService, serveRpc, type RpcHandlers, type RpcService } from './serve.ts';
export { openChannel, type RpcChannel, type RpcClient } from './client.ts';
