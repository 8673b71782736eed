import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useHandleAlert } from '../../api/alerts.ts'
import { saidBy, useMyName } from '../../api/session.ts'
import { counted } from '../../lib/words.ts'
import { offerUndo } from './undo.tsx'

/** Offers to take the acknowledgement of alerts back, in the name that the browser keeps. */
export function useUndoAcknowledging(): (ids: readonly string[]) => void {
  const handle = useHandleAlert()
  const [name] = useMyName()
  return (ids) =>
    offerUndo(`${counted(ids.length, 'alert')} acknowledged`, () =>
      Promise.all(ids.map((id) => handle.mutateAsync({ id, verb: 'unacknowledge', ...saidBy(name) }))),
    )
}

/** Acknowledges one alert after another, says so when that was refused for some, and offers to take back the others. */
export function useAcknowledging() {
  const handle = useHandleAlert()
  const offer = useUndoAcknowledging()
  const [name] = useMyName()
  const [isBusy, setBusy] = useState(false)
  const run = async (ids: readonly string[]) => {
    setBusy(true)
    const outcomes = await Promise.allSettled(
      ids.map((id) => handle.mutateAsync({ id, verb: 'acknowledge', ...saidBy(name) })),
    )
    setBusy(false)
    const done = ids.filter((_, n) => outcomes[n]?.status === 'fulfilled')
    if (done.length > 0) offer(done)
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
    const [first] = failures
    if (first === undefined) return
    const title = `${counted(failures.length, 'alert was', 'alerts were')} not acknowledged`
    notifications.show({ color: 'danger', title, message: first.message })
  }
  return { isBusy, run: (ids: readonly string[]) => void run(ids) }
}
