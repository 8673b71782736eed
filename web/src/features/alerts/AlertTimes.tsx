import { Tooltip } from '@mantine/core'
import type { AlertRecord } from '../../api/alerts.ts'
import { useNow } from '../../lib/use-now.ts'
import { duration, exact, relative } from '../../lib/words.ts'
import classes from './alerts.module.css'

interface Props {
  alert: Pick<AlertRecord, 'opened_at' | 'resolved_at'>
  zone: string | undefined
}

/** "for 42 min" while it lasts, "3 h ago" when it is over. */
export function AlertTimes({ alert: { opened_at, resolved_at }, zone }: Props) {
  const now = useNow()
  const opened = Date.parse(opened_at)
  const ended = resolved_at === null ? null : Date.parse(resolved_at)
  const [label, text] =
    ended === null
      ? [`Since ${exact(opened, zone)}`, `for ${duration(now - opened)}`]
      : [`${exact(opened, zone)} to ${exact(ended, zone)}`, relative(ended, now)]
  return (
    <Tooltip label={label}>
      <time className={classes.times} dateTime={opened_at}>
        {text}
      </time>
    </Tooltip>
  )
}
