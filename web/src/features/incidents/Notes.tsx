import { Button, Group, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type IncidentDetail, useAddNote } from '../../api/incidents.ts'
import { saidBy, useMyName, useSession } from '../../api/session.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'
import { personName } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import classes from './incidents.module.css'

interface NotesProps {
  incident: Pick<IncidentDetail, 'id' | 'notes'>
  zone: string | undefined
  /** Whether it asks for the name. */
  asksName?: boolean
}

/** The notes of people, and a field to add one. */
export function Notes({ incident: { id, notes }, zone, asksName = false }: NotesProps) {
  const { mayChange } = useSession()
  return (
    <>
      {notes.length > 0 && (
        <ul className={classes.notes} aria-label="Notes">
          {notes.map((note) => (
            <li key={note.id}>
              <span className={classes.noteText}>{note.text}</span>{' '}
              <span className={classes.muted}>
                {personName(note.by)}, <RelativeTime at={note.at} {...(zone === undefined ? {} : { zone })} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {mayChange && <NoteForm id={id} asksName={asksName} />}
      {!mayChange && notes.length === 0 && <Text c="dimmed">No one has written a note.</Text>}
    </>
  )
}

/** Adds a note: what was found, who was asked, what was done. */
function NoteForm({ id, asksName }: { id: string; asksName: boolean }) {
  const add = useAddNote()
  const [name, setName] = useMyName()
  const [text, setText] = useState('')
  useUnsaved(() => !add.isPending && text.trim() !== '')
  const save = async () => {
    try {
      // Unlike callbacks of `mutate`, this reports a refusal also when the page was left meanwhile.
      await add.mutateAsync({ id, text, ...saidBy(name) })
      // What was typed on meanwhile is not saved.
      setText((now) => (now === text ? '' : now))
    } catch (thrown) {
      notifyOf('Not saved')(thrown as Error)
    }
  }
  return (
    <form
      data-print="no"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <Textarea
        label="Note"
        description="What was found or done; everyone who opens this incident sees it"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={4_000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group mt="xs" gap="xs" align="flex-end">
        {asksName && setName !== null && (
          <TextInput
            aria-label="Your name"
            placeholder="Your name"
            size="xs"
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        <Button size="compact-sm" type="submit" variant="default" disabled={text.trim() === ''} loading={add.isPending}>
          Add note
        </Button>
      </Group>
    </form>
  )
}
