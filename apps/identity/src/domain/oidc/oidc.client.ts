import type { Claims } from './claims.ts';

/** What only the browser and we know of a log-in that is in progress, and what the provider must repeat. */
export interface Proof {
  /** Returns in the address of the callback. */
  state: string;
  /** Returns in the id_token. */
  nonce: string;
  /** PKCE (RFC 7636): its SHA-256 goes out with the browser, itself it is sent with the code. */
  codeVerifier: string;
}

/** The parameters that a provider adds to the address of the callback. */
export interface CallbackParameters {
  code?: string | undefined;
  state?: string | undefined;
  /** RFC 9207. */
  iss?: string | undefined;
  error?: string | undefined;
  error_description?: string | undefined;
}

/** One provider. Both methods throw `OidcFailure`, and take no longer than some bounded calls of the provider. */
export interface OidcClient {
  newProof(): Proof;
  /** Where the browser goes to log in at the provider. */
  authorizationUrl(proof: Proof): Promise<string>;
  /**
   * Exchanges the code and answers the claims of the id_token and of userinfo together; where both have one, that of
   * the id_token, which is signed. `iss` and `sub` are there, and nothing that is a token.
   */
  claims(parameters: CallbackParameters, proof: Proof): Promise<Claims>;
}
