/** The anchor that GitHub gives to a heading, so that one link works in both places. Repeats are numbered by the renderer, as there. */
export const githubSlug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
