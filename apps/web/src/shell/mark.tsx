/** The mark of Longwave, beside its name. */
export const Mark = () => (
  <svg
    width="22"
    height="22"
    viewBox="0 0 24 24"
    fill="none"
    stroke="var(--tide)"
    strokeWidth="2.2"
    strokeLinecap="round"
    aria-hidden
  >
    <path d="M1.5 12c2.2 0 2.6-7 5.2-7s3 14 5.6 14 3-10 5.2-10 2.3 3 5 3" />
  </svg>
);
