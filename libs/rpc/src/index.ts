export { readTls, tlsFromConfig, type Tls } from './tls.ts';
export { rpcService, serveRpc, type RpcContext, type RpcHandlers, type RpcService } from './serve.ts';
export { openChannel, type RpcChannel, type RpcClient } from './client.ts';
