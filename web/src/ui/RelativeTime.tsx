import { Tooltip } from '@mantine/core'
import { useNow } from '../lib/external.ts'
import { exact, relative } from '../lib/words.ts'

const MINUTE = 60_000

interface Props {
  /** ISO 8601; null: it never happened. */
  at: string | null
  /** The site's IANA zone; without one the reader's own. */
  zone?: string
  /** What to say instead of a time that never was. */
  never?: string
  /** What to say of a time that is due, where it is about what comes next. */
  due?: string
}

/** "42 min ago", and the exact time with its zone on hover. */
export function RelativeTime({ at, zone, never = 'never', due }: Props) {
  const now = useNow()
  if (at === null) return <span>{never}</span>
  const time = Date.parse(at)
  return (
    <Tooltip label={exact(time, zone)}>
      <time dateTime={at}>{due !== undefined && time - now < MINUTE ? due : relative(time, now)}</time>
    </Tooltip>
  )
}
