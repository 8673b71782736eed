import { Tooltip } from '@mantine/core'
import type { AlertRecord } from '../../api/alerts.ts'
import { useNow } from '../../lib/external.ts'
import { duration, exact, relative } from '../../lib/words.ts'
import classes from './alerts.module.css'

interface AlertTimesProps {
  alert: Pick<AlertRecord, 'started_at' | 'opened_at' | 'resolved_at'>
  zone: string | undefined
}

/** "for 42 min" while it lasts, "resolved 3 h ago" afterwards. */
export function AlertTimes({ alert: { started_at, opened_at, resolved_at }, zone }: AlertTimesProps) {
  const now = useNow()
  const began = Date.parse(started_at)
  const ended = resolved_at === null ? null : Date.parse(resolved_at)
  const [label, text] =
    ended === null
      ? [`Since ${exact(began, zone)}, detected ${exact(Date.parse(opened_at), zone)}`, `for ${duration(now - began)}`]
      : [`${exact(began, zone)} to ${exact(ended, zone)}`, `resolved ${relative(ended, now)}`]
  return (
    <Tooltip label={label}>
      <time className={classes.times} dateTime={resolved_at ?? started_at}>
        {text}
      </time>
    </Tooltip>
  )
}
