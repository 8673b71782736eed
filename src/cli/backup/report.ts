import type { CopiedDatabase, DatabaseContents } from '../../store/index.ts'

const WHOLE = new Intl.NumberFormat('en-US')

/** `35.2 MB in 1.4 s` */
export const sizeAndTime = ({ bytes }: CopiedDatabase, seconds: number): string =>
  `${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s`

/** What a database holds, one sentence a line. */
export function contentsLines({ clients, sites, events, unfolded }: DatabaseContents): string[] {
  const held = `it holds ${amount(clients, 'client')} with ${amount(sites, 'site')} and ${amount(events, 'event')}`
  return unfolded === 0 ? [held] : [held, `and ${amount(unfolded, 'commit')} that the next start adds to the counts`]
}

const amount = (count: number, unit: string): string => `${WHOLE.format(count)} ${unit}${count === 1 ? '' : 's'}`
