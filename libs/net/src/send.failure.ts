const REASONS: Record<string, string> = {
  ENOTFOUND: "The destination's name is not known.",
  ENODATA: "The destination's name has no address.",
  ETIMEOUT: "The name servers of the destination's domain do not answer.",
  ESERVFAIL: "The name servers of the destination's domain fail.",
  EAI_AGAIN: "The destination's name can't be resolved just now.",
  ECONNREFUSED: 'The destination refused the connection.',
  ECONNRESET: 'The destination closed the connection without an answer.',
  ETIMEDOUT: 'The destination did not accept the connection in time.',
  EHOSTUNREACH: "The destination's network can't be reached.",
  ENETUNREACH: "The destination's network can't be reached.",
  HPE_HEADER_OVERFLOW: 'The destination answered with more than 16 KiB of headers.',
  ERR_TLS_CERT_ALTNAME_INVALID: "The destination's certificate is for another name.",
  CERT_HAS_EXPIRED: "The destination's certificate has expired.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The destination's certificate is self-signed and not trusted.",
  SELF_SIGNED_CERT_IN_CHAIN: "The destination's certificate comes from an authority that is not trusted.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The destination's certificate comes from an authority that is not trusted.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The destination's certificate comes from an authority that is not trusted.",
};

/**
 * Why a request failed, as a sentence for people. It uses only the error's code, because the message contains
 * addresses.
 */
export function describeFailure(error: unknown): string {
  const code = codeOf(error);
  if (code === null) return 'The destination closed the connection without an answer.';
  if (code.startsWith('HPE_')) return REASONS[code] ?? 'The destination did not answer in HTTP.';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return 'The destination does not speak TLS as it should.';
  return REASONS[code] ?? `The destination can't be reached (${code}).`;
}

function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : null;
}
