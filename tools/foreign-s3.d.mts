/** The program of a real S3 server that is not ours; the answer says why when it cannot be had. */
export function fetchVersityGateway(options?: {
  readonly onProgress?: (text: string) => void;
}): Promise<{ readonly binary: string } | { readonly unavailable: string }>;
