import { Button, Popover, Stack, TextInput } from '@mantine/core'
import { Bookmark } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useSaveView } from '../../api/views.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'

/** Saves the current view. */
export function SaveView({ path }: { path: string }) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const save = useSaveView()
  // The input survives closing the popover, because a click beside it is easily made.
  useUnsaved(() => !save.isPending && name.trim() !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const done = () => {
      setOpen(false)
      setName('')
    }
    save.mutate({ name, path }, { onSuccess: done })
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus position="bottom-start">
      <Popover.Target>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Bookmark size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          Save view
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={submit}>
          <Stack gap="sm">
            <TextInput
              label="Name"
              description="Everyone sees it"
              maxLength={60}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={save.error?.message}
              data-autofocus
            />
            <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
              Save
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
