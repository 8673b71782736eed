import { Tooltip } from '@mantine/core'
import { useNow } from '../lib/external.ts'
import { exact, relative } from '../lib/words.ts'

const MINUTE = 60_000

interface Props {
  /** ISO 8601; null when it never happened. */
  at: string | null
  /** The site's IANA zone; by default the reader's own. */
  zone?: string
  /** Shown when `at` is null. */
  never?: string
  /** Shown when a future event is due. */
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
