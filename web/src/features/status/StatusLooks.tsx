import '@mantine/core/styles/ColorSwatch.layer.css'
import '@mantine/core/styles/ColorPicker.layer.css'
import '@mantine/core/styles/ColorInput.layer.css'
import { Button, ColorInput, FileButton, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSession } from '../../api/session.ts'
import { statusLooksQuery, useUpdateStatusLooks } from '../../api/status.ts'
import classes from './status-link.module.css'

/** Image formats that cannot contain scripts. */
const PICTURES = 'image/png,image/jpeg,image/webp'

/** The colour and the logo of the client on its status page. */
export function StatusLooks({ clientId }: { clientId: string }) {
  const { mayChange } = useSession()
  const { data } = useQuery(statusLooksQuery(clientId))
  const update = useUpdateStatusLooks(clientId)
  const [colour, setColour] = useState<string | null>(null)
  if (data === undefined || !mayChange) return null
  const accent = colour ?? data.accent ?? ''
  const upload = async (file: File | null) => {
    if (file !== null) update.mutate({ logo: await base64Of(file) })
  }
  return (
    <>
      <Group gap="sm" align="end">
        <ColorInput
          label="Colour"
          description="A line above the page"
          placeholder="#2f5fd0"
          format="hex"
          withEyeDropper={false}
          value={accent}
          onChange={setColour}
        />
        <Button
          variant="default"
          disabled={accent === (data.accent ?? '')}
          loading={update.isPending}
          onClick={() => update.mutate({ accent: accent === '' ? null : accent.toLowerCase() })}
        >
          Save colour
        </Button>
        <FileButton accept={PICTURES} onChange={(file) => void upload(file)}>
          {(props) => (
            <Button variant="default" {...props}>
              {data.logo === null ? 'Add a logo …' : 'Replace the logo …'}
            </Button>
          )}
        </FileButton>
        {data.logo !== null && (
          <Button variant="default" onClick={() => update.mutate({ logo: null })}>
            Remove the logo
          </Button>
        )}
      </Group>
      <p className={classes.text}>
        {data.logo === null ? 'No logo' : 'A logo is set'}: PNG, JPEG or WebP, at most 64 kB and 1,024 px a side.
      </p>
      {update.error !== null && <p role="alert">{update.error.message}</p>}
    </>
  )
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
