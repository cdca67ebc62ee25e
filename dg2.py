import numpy as np, sys, time
from numpy.polynomial.legendre import leggauss, legvander, Legendre
from groundswell.meshes.gll import gll
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as RK
CP,CS,RHO_=1.75,1.0,1.0
MU=RHO_*CS**2; LAM=RHO_*CP**2-2*MU
SIG,DEL,L=0.4,2.0,10
DUR=DEL+1.5+4*SIG
rate=lambda t: np.exp(-(t-DEL)**2/(2*SIG**2))/(SIG*np.sqrt(2*np.pi))
def dg(loads,recs,N=5,E=L,dt=None,theta=1.0,dist=None):
    """loads: list of (field array (5,E,E,N+1,N+1), time function); axes [ey,ex,j,i]; h=1. recs (R,2)."""
    D=gll(N).derivative*2; w0=2/(N*(N+1)); lift=2/w0
    u=np.zeros((5,E,E,N+1,N+1)); r=np.zeros_like(u)
    dt=dt or 1.4/(CP*(N+1)**2)
    n=int(np.ceil(DUR/dt)); 
    ex=np.floor(recs[:,0]).astype(int); ey=np.floor(recs[:,1]).astype(int)
    Wx=gll(N).interpolation(2*(recs[:,0]-ex)-1); Wy=gll(N).interpolation(2*(recs[:,1]-ey)-1)
    out=[]
    Zp,Zs=RHO_*CP,RHO_*CS
    def rhs(u,t):
        vx,vy,sxx,syy,sxy=u
        dx=lambda f: f@D.T; dy=lambda f: np.einsum("ab,...bi->...ai",D,f)
        exx,eyy,exy=dx(vx),dy(vy),(dy(vx)+dx(vy))
        o=np.empty_like(u)
        o[0]=(dx(sxx)+dy(sxy))/RHO_; o[1]=(dx(sxy)+dy(syy))/RHO_
        o[2]=(LAM+2*MU)*exx+LAM*eyy; o[3]=LAM*exx+(LAM+2*MU)*eyy; o[4]=MU*exy
        for axis in (0,1):
            for side in (0,1):
                sl=(Ellipsis,-1 if side else 0) if axis==0 else (Ellipsis,-1 if side else 0,slice(None))
                ot=(Ellipsis,0 if side else -1) if axis==0 else (Ellipsis,0 if side else -1,slice(None))
                sh=-1 if side else 1
                own=u[sl]; oth=np.roll(u[ot],sh,axis=2 if axis==0 else 1)
                n_=1. if side else -1.
                iv,it=(0,1) if axis==0 else (1,0); inn=2 if axis==0 else 3
                jn=n_*(own[inn]-oth[inn]); jt=n_*(own[4]-oth[4])   # traction jumps T-=S n
                jvn=own[iv]-oth[iv]; jvt=own[it]-oth[it]
                # components along axis direction: T=(S n) so T_n component in axis dir
                an=(-jn-theta*Zp*jvn)/(2*Zp); at=(-jt-theta*Zs*jvt)/(2*Zs)
                tn=(-theta*jn-Zp*jvn)/2 ; tt=(-theta*jt-Zs*jvt)/2
                o[iv][sl]+=lift*tn/RHO_; o[it][sl]+=lift*tt/RHO_
                o[inn][sl]+=lift*n_*(LAM+2*MU)*an; o[5-inn][sl]+=lift*n_*LAM*an; o[4][sl]+=lift*n_*MU*at
        for b,f in loads: o+=b*f(t)
        return o
    for k in range(n):
        out.append(np.einsum("frji,rj,ri->rf",u[:2][:,ey,ex],Wy,Wx))
        for a,b,c in zip(RK.a,RK.b,RK.c):
            r=a*r+dt*rhs(u,(k+c)*dt) if a else dt*rhs(u,k*dt)
            u=u+b*r
    return dt*np.arange(n),np.array(out).transpose(1,2,0)
def exact(M,src,recs,t,force=None,K=100,s=0.12):
    """M (2,2) moment with moment rate `rate`; or force with amplitude `rate`."""
    m=np.arange(-K,K+1); kx,ky=np.meshgrid(2*np.pi*m/L,2*np.pi*m/L); n2=(m[None]**2+m[:,None]**2)
    kx,ky,n2=kx.ravel(),ky.ravel(),n2.ravel(); k=np.hypot(kx,ky); q=(k*s)**2/2
    amp=np.exp(-q)*(1+q+q*q/2+q**3/6)/L**2
    kk=np.stack([kx,ky]); kh=kk/np.where(k>0,k,1)
    f=-(np.array(M)@kk)*1.0 if force is None else None    # f = -M grad phi -> coefficient -i k M
    uq,inv=np.unique(n2,return_inverse=True); kq=2*np.pi/L*np.sqrt(uq)
    tf=np.linspace(0,t[-1],1601); dtf=tf[1]; g=rate(tf)
    def resp(c,deriv):
        Om=c*kq[:,None]; 
        C=np.cumsum(np.cos(Om*tf)*g,axis=1)*dtf-np.cos(Om*tf)*g*dtf/2; S=np.cumsum(np.sin(Om*tf)*g,axis=1)*dtf-np.sin(Om*tf)*g*dtf/2
        v=(np.sin(Om*tf)*C-np.cos(Om*tf)*S)/np.where(Om>0,Om,1) if not deriv else np.cos(Om*tf)*C+np.sin(Om*tf)*S
        return v
    ph=recs@kk-np.asarray(src)@kk   # (R,modes)
    out=np.zeros((len(recs),2,len(tf)))
    RP,RS=resp(CP,force is not None),resp(CS,force is not None)
    base=np.sin(ph) if force is None else np.cos(ph)   # real part of -i k M e^{i ph} = kM sin(ph)
    F=(np.array(M)@kk) if force is None else np.array(force)[:,None]*np.ones(len(k))
    lon=(kh*F).sum(0)*kh; tr=F-lon
    for c in range(2):
        for R_,ff in ((RP,lon[c]),(RS,tr[c])):
            A=np.array([np.bincount(inv,weights=base[r]*ff*amp,minlength=len(uq)) for r in range(len(recs))])
            out[:,c]+=A@R_
    return np.array([[np.interp(t,tf,x) for x in y] for y in out])/RHO_
# ---- loads -----
def radial2(s,q):
    x,wt=leggauss(400); r=(x+1)/2; wt=wt/2; w=(1-r*r)**s; m=q//2+1
    V=np.array([r**(2*j) for j in range(m)]); G=(V*(2*np.pi*r*w*wt))@V.T
    return np.linalg.solve(G,np.eye(m)[0])
def kernel(R,s,q):
    c=radial2(s,q)/R**2
    return lambda d2: np.clip(1-d2/R**2,0,None)**s*sum(c[j]*(d2/R**2)**j for j in range(len(c)))
def project(fun,N,E=L,over=14):
    x,w=leggauss(N+1+over); P=gll(N).interpolation(x)*w[:,None]/gll(N).weights
    X=(np.arange(E)[:,None]+(x+1)/2); f=fun(X[None,:,None,:],X[:,None,:,None])  # ey,ex,j,i
    return np.einsum("yxji,ja,ib->yxab",f,P,P)
def filt(b,d,N=5):
    V=legvander(gll(N).points,N); F=V@np.diag(d)@np.linalg.inv(V)
    return np.einsum("aj,bi,yxji->yxab",F,F,b)
def pointdelta(src,N,E=L,deg=None):
    deg=N if deg is None else deg
    b=np.zeros((E,E,N+1,N+1)); e=np.floor(src).astype(int)
    def one(xi):
        n=np.arange(deg+1); return legvander(gll(N).points,deg)@(legvander(np.array([xi]),deg)[0]*(n+.5))*2
    b[e[1],e[0]]=np.outer(one(2*(src[1]-e[1])-1),one(2*(src[0]-e[0])-1)); return b
ANG=np.linspace(0,2*np.pi,12,endpoint=False)+.13
POS={"odd":(5.316,5.139),"middle":(5.5,5.5),"face":(5.0,5.4),"corner":(5.,5.)}
def errors(load,pos,M=((.3,.8),(.8,-.5)),N=5,radii=(1.,1.25,1.5),force=None,loadf=None,cache={},**kw):
    src=np.array(POS[pos]); recs=np.concatenate([src+r*np.stack([np.cos(ANG),np.sin(ANG)],1) for r in radii])
    if loadf: loads=loadf(src)
    else:
        b=load(src); A=np.zeros((5,*b.shape))
        if force is None: A[2],A[3],A[4]=-M[0][0]*b,-M[1][1]*b,-M[0][1]*b
        else: A[0],A[1]=force[0]*b,force[1]*b
        loads=[(A,rate)]
    t,v=dg(loads,recs,N,**kw)
    key=(pos,radii,force,len(t))
    if key not in cache: cache[key]=exact(M,src,recs,t,force)
    ex=cache[key]
    e=(np.linalg.norm(v-ex,axis=(1,2))/np.linalg.norm(ex,axis=(1,2))).reshape(len(radii),-1)
    return e,t,v,ex
def report(name,load,poss=("odd","middle","face","corner"),**kw):
    for p in poss:
        e,*_=errors(load,p,**kw)
        print(f"{name:28s} {p:7s}"," ".join(f"{100*np.sqrt((x**2).mean()):6.2f}/{100*x.max():6.2f}" for x in e),flush=True)
if __name__=="__main__":
    t0=time.time()
    one=np.array([1,1,1,1,1,1.])
    k=lambda R,s,q,d: (lambda src: filt(project(lambda x,y: kernel(R,s,q)((x-src[0])**2+(y-src[1])**2),5),d))
    report("delta P5",lambda s: pointdelta(s,5)); print(time.time()-t0)
    report("delta P4",lambda s: pointdelta(s,5,deg=4),("odd",))
    report("delta P3",lambda s: pointdelta(s,5,deg=3))
    report("kernel .6,3,4 P4",k(.6,3,4,[1,1,1,1,1,0]))
    report("kernel .6,3,4 P3",k(.6,3,4,[1,1,1,1,0,0]))
    report("kernel .6,3,4 P5",k(.6,3,4,one))
    report("kernel 1,3,4 P4",k(1,3,4,[1,1,1,1,1,0]))
    print(time.time()-t0)
