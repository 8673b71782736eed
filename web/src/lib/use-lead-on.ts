import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Leads on from a form that is saved, but not someone who has left it meanwhile. */
export function useLeadOn(): ReturnType<typeof useNavigate> {
  const navigate = useNavigate()
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return async (options) => {
    if (isHere.current) await navigate(options)
  }
}
