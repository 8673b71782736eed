/** Props of a `Select`'s button that empties it: Mantine hides it from the keyboard and from screen readers. */
export const clearButton = (label: string) => ({ 'aria-label': label, 'aria-hidden': false, tabIndex: 0 }) as const
