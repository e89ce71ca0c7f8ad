/** Set by the build. */
declare const __VERSION__: string;
