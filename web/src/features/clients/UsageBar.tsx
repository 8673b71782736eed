import type { UsageRecord } from '../../api/usage.ts'
import { compact, percent, whole } from '../../lib/words.ts'
import classes from './UsageBar.module.css'

/** What of the month's events is used; marks stand at 80 and 100 %. */
export function UsageBar({ usage: { events, limit, share, level } }: { usage: UsageRecord }) {
  if (limit === null || share === null) {
    return (
      <span className={classes.words}>
        <b>{compact(events)}</b> events this month, without a limit
      </span>
    )
  }
  const word = { ok: '', warning: ' · nearly used up', exceeded: ' · used up: refused' }[level]
  return (
    <div className={classes.usage} data-level={level}>
      <div className={classes.track} aria-hidden="true">
        <div className={classes.fill} style={{ width: `${Math.min(1, share) * 100}%` }} />
      </div>
      <span className={classes.words} title={`${whole(events)} of ${whole(limit)}`}>
        <b>{compact(events)}</b> of {compact(limit)} · {percent(share)}
        {word}
      </span>
    </div>
  )
}
