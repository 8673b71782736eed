interface Props {
  /** px */
  size: number
}

/** The product's logo, a tag with a watchful eye. Decorative, because it is beside the name. */
export function Logo({ size }: Props) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" aria-hidden="true" focusable="false">
      <path
        d="M3 4.5A1.5 1.5 0 0 1 4.5 3h7.1a2 2 0 0 1 1.4.6l7.4 7.4a2 2 0 0 1 0 2.8l-6.6 6.6a2 2 0 0 1-2.8 0L3.6 13A2 2 0 0 1 3 11.6Z"
        fill="var(--accent-text)"
      />
      <path
        d="M6.4 11.2c1.6-2.6 3.5-3.9 5.6-3.9s4 1.3 5.6 3.9c-1.6 2.6-3.5 3.9-5.6 3.9s-4-1.3-5.6-3.9Z"
        fill="var(--surface)"
      />
      <circle cx="12" cy="11.2" r="2" fill="var(--accent-text)" />
    </svg>
  )
}
