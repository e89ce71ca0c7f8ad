/** Tollkeeper's logo: a gate with its bar down. */
export function Mark() {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" aria-hidden="true">
      <path d="M4 21V10a8 8 0 0 1 16 0v11" />
      <path d="M4 13h13" stroke="var(--c3)" strokeWidth="3" />
      <circle cx="4" cy="13" r="1.6" fill="var(--c3)" stroke="none" />
    </svg>
  );
}
