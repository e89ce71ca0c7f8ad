import type { Claims } from './claims.ts';

/** Secrets of a log-in in progress, known only to the browser and us. The provider must repeat them. */
export interface Proof {
  /** Comes back in the URL of the callback. */
  state: string;
  /** Comes back in the id_token. */
  nonce: string;
  /** PKCE (RFC 7636): its SHA-256 is sent with the browser, the verifier itself with the code. */
  codeVerifier: string;
}

/** The parameters that a provider adds to the callback's URL. */
export interface CallbackParameters {
  code?: string | undefined;
  state?: string | undefined;
  /** RFC 9207. */
  iss?: string | undefined;
  error?: string | undefined;
  error_description?: string | undefined;
}

/** One provider. Both methods throw `OidcFailure`, and take at most the time of a few requests with timeouts. */
export interface OidcClient {
  newProof(): Proof;
  /** The URL at which the browser logs in at the provider. */
  authorizationUrl(proof: Proof): Promise<string>;
  /**
   * Exchanges the code and returns the claims of the id_token and userinfo; the id_token's win, because they are
   * signed. The result has `iss` and `sub`, and no tokens.
   */
  claims(parameters: CallbackParameters, proof: Proof): Promise<Claims>;
}
