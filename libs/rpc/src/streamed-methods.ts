/**
 * The unary methods that are called so often that their calls share one stream per channel. Only short ones that may wait for each
 * other belong here.
 */
export const streamedMethods: ReadonlySet<string> = new Set([
  '/longwave.serving.v1.ServingService/Decide',
  '/longwave.credential.v1.CredentialService/Verify',
  '/longwave.resource.v1.ResourceService/GetResource',
  '/longwave.resource.v1.ResourceService/ListResources',
  '/longwave.resource.v1.OperationService/GetOperation',
]);
