// Original file: tollkeeper/keys/v1/keys.proto


/**
 * A fact about a call. Never a prompt or an answer.
 */
export interface ReadFact {
  /**
   * Such as `input_tokens`.
   */
  'fact'?: (string);
  /**
   * The attribute, or the path in a callback, that the value came from.
   */
  'name'?: (string);
  /**
   * The value as text, at most 128 characters.
   */
  'value'?: (string);
}

/**
 * A fact about a call. Never a prompt or an answer.
 */
export interface ReadFact__Output {
  /**
   * Such as `input_tokens`.
   */
  'fact': (string);
  /**
   * The attribute, or the path in a callback, that the value came from.
   */
  'name': (string);
  /**
   * The value as text, at most 128 characters.
   */
  'value': (string);
}
