-- The health of a ClusterExtension for Argo CD: what olmgate says in olmgate.dev/Resolved, then what
-- operator-controller says. docs/gitops.md has the states. Argo CD gives no string library here, and one second.

local function field(value, name)
  if type(value) == "table" then
    return value[name]
  end
  return nil
end

local function text(value)
  if type(value) == "string" or type(value) == "number" then
    return tostring(value)
  end
  return ""
end

local function condition(name)
  local conditions = field(obj.status, "conditions")
  if type(conditions) == "table" then
    for _, c in ipairs(conditions) do
      if field(c, "type") == name then
        return c
      end
    end
  end
  return nil
end

-- A condition counts if it is about the spec as it is now.
local function current(c)
  return c ~= nil and c.observedGeneration ~= nil and c.observedGeneration == field(obj.metadata, "generation")
end

local function is(c, status)
  return current(c) and c.status == status
end

local function says(c)
  local reason, message = text(c.reason), text(c.message)
  if reason == "" or message == "" then
    return reason .. message
  end
  return reason .. ": " .. message
end

local function health(status, message)
  return { status = status, message = message }
end

local resolved = condition("olmgate.dev/Resolved")
local progressing = condition("Progressing")
local installed = condition("Installed")
local available = condition("Available")
local bundle = text(field(field(field(obj.status, "install"), "bundle"), "name"))
if bundle == "" then
  bundle = "a bundle"
end

if field(obj.metadata, "deletionTimestamp") ~= nil then
  return health("Progressing", "It is being deleted.")
end

if is(resolved, "False") then
  if installed ~= nil and installed.status == "True" then
    return health("Degraded", "What is installed, " .. bundle .. ", stays, but the source does not resolve: " .. says(resolved))
  end
  return health("Degraded", says(resolved))
end

-- operator-controller has given up until the spec changes: Blocked, InvalidConfiguration, ProgressDeadlineExceeded.
if is(progressing, "False") then
  return health("Degraded", says(progressing))
end

-- Without olmgate's condition the rest decides. It writes none for a source of another type; an old one is left over.
local source = field(field(field(obj, "spec"), "source"), "sourceType")
if resolved ~= nil and (source == nil or source == "Catalog") then
  if not current(resolved) then
    return health("Progressing", "olmgate has not judged the present spec yet.")
  end
  if not is(resolved, "True") then
    return health("Progressing", says(resolved))
  end
end

if not current(progressing) then
  return health("Progressing", "operator-controller has not seen the present spec yet.")
end
-- Retrying is both "not yet" and "never", so it is neither green nor red.
if not is(progressing, "True") or progressing.reason ~= "Succeeded" then
  return health("Progressing", says(progressing))
end
if not current(installed) then
  return health("Progressing", "Nothing is installed for the present spec yet.")
end
if not is(installed, "True") then
  return health("Progressing", says(installed))
end
-- Only some configurations of operator-controller write it.
if current(available) and not is(available, "True") then
  return health("Progressing", says(available))
end

local message = "Installed " .. bundle .. "."
for _, name in ipairs({ "olmgate.dev/UpdateAvailable", "olmgate.dev/Deprecated" }) do
  local note = condition(name)
  if is(note, "True") then
    message = message .. "\n" .. says(note)
  end
end
return health("Healthy", message)
