import { Button, Group, Kbd } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useLayoutEffect, useState } from 'react'
import { type SilenceRecord, useEndSilence, useHandleAlert, useSilence } from '../api/alerts.ts'
import { useHandleIncident } from '../api/incidents.ts'
import { saidBy, useMyName } from '../api/session.ts'
import { isForPage } from '../lib/keys.ts'
import { notifyOf } from '../lib/refusal.ts'
import { counted } from '../lib/words.ts'

/** Time to notice a mistake, ms. */
const SHOWN_MS = 8_000
const KEY = 'u'
/** One id, because only the last action can be undone: there is one toast, and the key has one meaning. */
const ID = 'undo'

/**
 * Says what was done and offers to undo it, by a click or the key "u", for eight seconds. Shows an error when undoing fails.
 *
 * @param done "1 alert acknowledged"
 */
export function offerUndo(done: string, undo: () => Promise<unknown>): void {
  notifications.hide(ID)
  const take = () => {
    notifications.hide(ID)
    undo().catch(notifyOf('Not undone'))
  }
  notifications.show({
    id: ID,
    title: done,
    message: <Undo onUndo={take} />,
    autoClose: SHOWN_MS,
    closeButtonProps: { 'aria-label': 'Close' },
  })
}

function Undo({ onUndo }: { onUndo: () => void }) {
  // A layout effect, so that the key works as soon as the toast is visible.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.key !== KEY || !isForPage(event)) return
      event.preventDefault()
      onUndo()
    }
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [onUndo])
  return (
    <Group mt="xs" gap="xs">
      <Button size="compact-sm" variant="default" onClick={onUndo} aria-keyshortcuts={KEY}>
        Undo
      </Button>
      <Kbd size="xs" aria-hidden>
        {KEY}
      </Kbd>
    </Group>
  )
}

type Handle = Pick<ReturnType<typeof useHandleAlert> | ReturnType<typeof useHandleIncident>, 'mutateAsync'>

/** Offers to revert acknowledgements, in the name that the browser keeps. */
function useUndoing({ mutateAsync }: Handle, what: string): (ids: readonly string[]) => void {
  const [name] = useMyName()
  return (ids) =>
    offerUndo(`${counted(ids.length, what)} acknowledged`, () =>
      Promise.all(ids.map((id) => mutateAsync({ id, verb: 'unacknowledge', ...saidBy(name) }))),
    )
}

export const useUndoAcknowledging = () => useUndoing(useHandleAlert(), 'alert')
export const useUndoAcknowledgingIncidents = () => useUndoing(useHandleIncident(), 'incident')

/** Acknowledges alerts or incidents, reports those that were refused, and offers to undo the others. */
function useTaking(handle: Handle, what: string) {
  const offer = useUndoing(handle, what)
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
    const title = `${counted(failures.length, `${what} was`, `${what}s were`)} not acknowledged`
    notifyOf(title)(first)
  }
  return { isBusy, run: (ids: readonly string[]) => void run(ids) }
}

export const useAcknowledging = () => useTaking(useHandleAlert(), 'alert')
export const useAcknowledgingIncidents = () => useTaking(useHandleIncident(), 'incident')

/** Silences and offers to undo it. Uses `mutateAsync`, which outlives the menu or dialog that called it. */
export function useSilencing() {
  const silence = useSilence()
  const end = useEndSilence()
  return {
    isPending: silence.isPending,
    error: silence.error,
    /** @throws ApiError when the service refuses it */
    async run(wanted: Parameters<typeof silence.mutateAsync>[0]): Promise<SilenceRecord> {
      const made = await silence.mutateAsync(wanted)
      offerUndo('Silenced', () => end.mutateAsync(made.id))
      return made
    },
    /** Makes several silences, undone together. @throws the first refusal; earlier ones stay and can be undone */
    async runAll(wanted: readonly Parameters<typeof silence.mutateAsync>[0][]): Promise<void> {
      const made: SilenceRecord[] = []
      try {
        for (const one of wanted) made.push(await silence.mutateAsync(one))
      } finally {
        if (made.length > 0) offerUndo('Silenced', () => Promise.all(made.map(({ id }) => end.mutateAsync(id))))
      }
    },
  }
}
