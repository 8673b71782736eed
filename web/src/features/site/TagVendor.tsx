import { Autocomplete, Button, Group, Popover, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { TagAnswer } from '../../api/analytics.ts'
import { useSession } from '../../api/session.ts'
import { useSetTagVendor, vendorsQuery } from '../../api/tags.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'
import { offerUndo } from '../../ui/undo.tsx'
import classes from './site.module.css'

type Named = Pick<TagAnswer, 'tag_key' | 'vendor' | 'vendor_by_hand'>

/** The tag's vendor, recognised by its name or set by a person, and a way to set it. */
export function TagVendor({ siteId, tag }: { siteId: string; tag: Named }) {
  const { mayChange } = useSession()
  const [isOpen, setOpen] = useState(false)
  const { vendor, vendor_by_hand } = tag
  const given = vendor_by_hand ? (vendor ?? '') : ''
  const [typed, setTyped] = useState<string | null>(null)
  // The input survives closing the popover, because a click beside it is easily made.
  useUnsaved(() => typed !== null && typed !== given)
  const onDone = () => {
    setTyped(null)
    setOpen(false)
  }
  return (
    <p className={classes.vendor}>
      <span>
        Vendor: <b>{vendor ?? 'unknown'}</b>
        <span className={classes.muted}>
          {vendor_by_hand ? ', set by hand' : vendor === null ? '' : ', by its name'}
        </span>
      </span>
      {mayChange && (
        <Popover opened={isOpen} onChange={setOpen} position="bottom-start" width={320} trapFocus returnFocus>
          <Popover.Target>
            <Button size="compact-sm" variant="default" onClick={() => setOpen(!isOpen)}>
              Set vendor
            </Button>
          </Popover.Target>
          <Popover.Dropdown aria-label="Set vendor">
            <Form {...{ siteId, tag, onDone }} name={typed ?? given} setName={setTyped} />
          </Popover.Dropdown>
        </Popover>
      )}
    </p>
  )
}

interface FormProps {
  siteId: string
  tag: Named
  name: string
  setName: (name: string) => void
  onDone: () => void
}

function Form({ siteId, tag, name, setName, onDone }: FormProps) {
  const { data: vendors = [] } = useQuery(vendorsQuery)
  const { mutateAsync, isPending, error } = useSetTagVendor(siteId, tag.tag_key)
  const before = tag.vendor_by_hand ? tag.vendor : null
  const form = useRef<HTMLFormElement>(null)
  const failed = (refusal: Error) => {
    // The popover was closed, so nothing else would show it.
    if (form.current === null) notifyOf('Vendor not set')(refusal)
  }
  const set = (vendor: string | null) =>
    void mutateAsync(vendor)
      .then(() => offerUndo(vendor === null ? 'Vendor by its name' : 'Vendor set', () => mutateAsync(before)))
      .then(onDone, failed)
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '') set(name)
      }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          Tags of one vendor that fail together are one incident, on this site and across sites. This applies to
          incidents that open from now on.
        </Text>
        <Autocomplete
          label="Vendor"
          placeholder="Meta, or a name of your own"
          data={vendors.map((one) => one.name)}
          limit={8}
          maxLength={60}
          value={name}
          onChange={setName}
          error={error?.message}
          data-autofocus
        />
        <Group justify="flex-end">
          {tag.vendor_by_hand && (
            <Button variant="default" onClick={() => set(null)} disabled={isPending}>
              By its name
            </Button>
          )}
          <Button type="submit" loading={isPending}>
            Set
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
